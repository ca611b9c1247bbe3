"""Hugging Face weights to ONNX; needs the packages of the extra ``export``."""
