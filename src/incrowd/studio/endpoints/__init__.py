"""What may be asked, by screen. A module adds endpoints by its `ENDPOINTS`."""
