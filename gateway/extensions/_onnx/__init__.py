"""Models in ONNX format: their folders, and how they run on this machine."""
