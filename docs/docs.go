// Package docs is the documentation, for agents to read.
package docs

import "embed"

// Files are the documents.
//
//go:embed *.md
var Files embed.FS
