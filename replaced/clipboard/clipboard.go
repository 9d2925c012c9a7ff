// Package clipboard stands for github.com/atotto/clipboard, which text fields of charm.land/bubbles use for Ctrl+V. That
// package searches every directory of PATH for five programs whenever a program starts that contains it, whatever it does
// then. Here there is no clipboard; terminals paste by themselves.
package clipboard

import "errors"

// ReadAll says that there is no clipboard.
func ReadAll() (string, error) { return "", errors.New("no clipboard") }

// WriteAll says that there is no clipboard.
func WriteAll(string) error { return errors.New("no clipboard") }
