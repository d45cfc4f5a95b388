"""What axe finds wrong with a page."""

SERIOUS = ("serious", "critical")


def serious_violations(page):
    """Serious and critical violations, one line each."""
    from axe_playwright_python.sync_playwright import Axe  # where tests of pages run, it is installed

    found = Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {one['help']}: {[node['target'] for node in one['nodes']][:3]}"
        for one in found
        if one["impact"] in SERIOUS
    ]
