"""Profiles: where an arm's time goes, and what could be won there. `hak profile` records, this
package counts and writes."""
