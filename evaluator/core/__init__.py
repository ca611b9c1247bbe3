"""The words every room of the evaluator speaks; pure."""
