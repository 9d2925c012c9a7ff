package guard

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"
)

// minToken is the smallest number of characters of a token that cannot be guessed.
const minToken = 16

// CheckToken reports what is wrong with a token.
func CheckToken(token string) error {
	if n := utf8.RuneCountInString(token); n < minToken {
		return fmt.Errorf("must have at least %d characters, got %d", minToken, n)
	}
	if strings.ContainsFunc(token, func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) }) {
		return errors.New("must not have spaces or control characters")
	}
	return nil
}

// Exposed reports whether others than this machine can reach an address to listen on, "HOST:PORT", and nothing says who may use the server
// there.
func (g *Guard) Exposed(addr string) bool {
	_, _, err := net.SplitHostPort(addr)
	return err == nil && !Loopback(addr) && !g.Restricted()
}

// tokenOf is the token that a request presents, "" if it has none. Basic authentication has a name as well.
func tokenOf(r *http.Request) (token, name string, basic bool) {
	if name, token, basic = r.BasicAuth(); basic {
		return token, name, true
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") { // RFC 9110, section 11.1
		return "", "", false
	}
	return strings.TrimSpace(token), "", false
}
