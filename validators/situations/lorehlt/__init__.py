"""Rules of LoReHLT 2019 situation frames."""
