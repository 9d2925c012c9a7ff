// Package browser opens the pages of internal/face/web in a headless Chromium. It has tests only:
//
//	go -C tools test ./browser
//	go -C tools test ./browser -screenshots DIR
//
// The report is the golden file of internal/face/web; the live page stands before a server that answers as the real one does.
// Chromium is $CHROME, or chromium or google-chrome on the path; where there is none the tests say so and are skipped.
package browser
