"""How Sphinx makes the site; site/build calls it."""

project = "alike"
extensions = ["myst_parser"]
myst_heading_anchors = 4
nitpicky = True
exclude_patterns = ["README.md"]  # it is index.md
suppress_warnings = ["misc.highlighting_failure"]  # blocks of pages that a test reads, in a language of their own
html_theme = "furo"
html_title = "alike"
html_copy_source = False  # site/build puts the pages' Markdown beside them
html_show_sphinx = False
html_theme_options = {
    "top_of_page_buttons": [],
    "light_css_variables": {"color-brand-primary": "#3d5fa8", "color-brand-content": "#3d5fa8"},
    "dark_css_variables": {"color-brand-primary": "#9db7ee", "color-brand-content": "#9db7ee"},
}
pygments_style = "default"
pygments_dark_style = "github-dark"
