// Site makes the documentation a static site: README and docs as pages with a search, dark colours and a choice of versions.
//
//	go -C tools run ./site -out ../site -name dev
//
// Each version is a folder of its own below -out; a run replaces that of -name and lists all of them in versions.js. Pages load nothing from
// elsewhere and work from a file system. Links between pages become links of the site; what else they lead to is copied. A
// link that leads nowhere is an error.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	root := flag.String("root", "..", "`directory` of the repository")
	out := flag.String("out", "../site", "`directory` of the site")
	name := flag.String("name", "dev", "`version` that the pages are of")
	parts := flag.String("parts", "site", "`directory` of the template, style and script")
	flag.Parse()
	n, err := build(*parts, *root, *out, *name)
	if err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
	fmt.Printf("%d pages in %s/%s\n", n, *out, *name)
}
