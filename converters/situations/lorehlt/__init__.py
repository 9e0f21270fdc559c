"""LoReHLT 2019 situation frames: system output in JSON or tables, and annotation in tables."""
