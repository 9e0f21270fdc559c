"""What formats of several families share."""
