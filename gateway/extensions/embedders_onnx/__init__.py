"""The embedder `onnx:FOLDER`."""
