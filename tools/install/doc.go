// Package install checks that "go install" can build the program from the module as it
// would be published: it serves this tree from a file-system GOPROXY and installs it.
package install
