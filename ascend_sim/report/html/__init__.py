"""A run as one HTML file that opens offline: `page.write_html`."""
