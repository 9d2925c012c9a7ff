// Package workflows checks the files of .github, and runs their shell where nothing outside is needed.
package workflows
