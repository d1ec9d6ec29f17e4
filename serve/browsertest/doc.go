// Package browsertest looks at the page of the service in a headless Chromium: its script, without it, its styles,
// markup in documents, and by axe-core what a screen reader gets. It is a module of its own, so that nothing of this
// weighs on the program. Without a Chromium all tests are skipped; run.sh has it all.
package browsertest
