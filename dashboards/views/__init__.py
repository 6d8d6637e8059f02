"""The pages, one file each: ``PAGE = Page(title, icon, order, render)``."""
