"""From a result to something people like to read: summary, figures, page."""
