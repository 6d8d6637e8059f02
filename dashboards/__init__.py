"""Streamlit pages over core's readers: ``mindmem dashboard``, or ``streamlit run dashboards/app.py``.

``app`` opens the store and shows a page; a page is one file in ``views``. ``store`` holds the open parts, ``figures``
makes tables out of them, ``readers`` caches those; ``markup``, ``charts`` and ``widgets`` show them.
"""
