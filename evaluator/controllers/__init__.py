"""Models behind HTTP: wire formats, clients and the layers around them."""
