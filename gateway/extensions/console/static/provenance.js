/* Where a document comes from, who stands behind it, and a button to do so. */

import { call, segment } from "./api.js";
import { h } from "./dom.js";
import { isOn, isWriter } from "./session.js";
import { announce, announceProblem, badge, formatInstant } from "./ui.js";

const TRUST = { claim: "a claim: nobody stands behind it", web: "from the web: nobody stands behind it" };
const WRITTEN = { person: "a person", agent: "an agent", source: "a source", web: "the web" };

/** What a hit or a document says of itself while nobody stands behind it; else false. */
export const trustBadge = (trust) => trust in TRUST && badge(TRUST[trust], "warn");

/** reload(): shows the document anew. */
export function provenanceOf({ document_id: id, provenance }, etag, reload) {
  if (!provenance) return h("span", { class: "muted" }, "not known");
  const { by, subject, agents, ratified_by: ratifiedBy, held_readers: held } = provenance;
  return h(
    "span",
    { class: "row small" },
    [WRITTEN[by], subject && (by === "agent" ? `for ${subject}` : subject), agents && `(${agents.join(", ")})`].filter(Boolean).join(" "),
    trustBadge(provenance.trust),
    ratifiedBy && badge(`ratified by ${ratifiedBy}, ${formatInstant(provenance.ratified_at)}`),
    held && badge("in quarantine", "warn"),
    provenance.hidden_text && badge("has text that nobody sees", "warn"),
    isWriter() && isOn("provenance") && button(id, etag, reload, provenance),
  );
}

function button(id, etag, reload, provenance) {
  const ratified = !provenance.ratified_by;
  if (ratified && provenance.trust === "vouched") return false;
  const act = async () => {
    try {
      await call("POST", `/v1/documents/${segment(id)}/ratify`, { body: { ratified }, headers: etag ? { "If-Match": etag } : {} });
      announce(ratified ? "You stand behind it now." : "The ratification is withdrawn.");
      reload();
    } catch (problem) {
      announceProblem(problem);
    }
  };
  return h("button", { type: "button", onclick: act }, ratified ? "Ratify" : "Withdraw ratification");
}
