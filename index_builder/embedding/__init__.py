"""Text to vectors through ONNX."""
