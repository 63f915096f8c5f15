// A browser starts no worker for a page that is opened from the disk. There a hidden frame runs the worker's
// script, so that the site can be searched as it lies in a folder. The site's builder looks for this file by its
// name.
"use strict";

{
  class FrameWorker extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const scope = this.frame.contentWindow;
      scope.importScripts = (...urls) =>
        urls.reduce((before, each) => before.then(() => load(scope, each)), Promise.resolve());
      scope.postMessage = (data) => this.tell(new MessageEvent("message", copied(data)));
      this.ready = load(scope, url);
    }

    postMessage(data) {
      const scope = this.frame.contentWindow;
      const message = copied(data);
      this.ready.then(() => scope.dispatchEvent(new scope.MessageEvent("message", message)));
    }

    terminate() {
      this.frame.remove();
    }

    tell(event) {
      this.dispatchEvent(event);
      this.onmessage?.(event);
    }
  }

  // Of one realm: what one side changes, the other must not see.
  function copied(data) {
    return { data: structuredClone(data) };
  }

  function load(scope, url) {
    return new Promise((loaded, failed) => {
      const script = scope.document.createElement("script");
      Object.assign(script, { src: url, onload: loaded, onerror: failed });
      scope.document.body.append(script);
    });
  }

  if (location.protocol === "file:") window.Worker = FrameWorker;
}
