package cli

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/plimsoll-project/plimsoll/internal/face/guard"
)

// tokenVariable is the environment variable with the token.
const tokenVariable = "PLIMSOLL_TOKEN"

// tokenFlags are the flags of servers that say who may use them.
type tokenFlags struct {
	token              string
	tokenGiven, anyone bool
}

// define adds the flags.
func (f *tokenFlags) define(fs *pflag.FlagSet) {
	fs.StringVar(&f.token, "token", "", "`token` that clients must send, 16 characters or more (default "+tokenVariable+")")
	fs.BoolVar(&f.anyone, "no-token", false, "let anyone who can reach the address use the server")
}

// read is the token, that of the flag or of the environment; "" if none is given. One that is given and empty is a mistake: a
// variable that was not set in the place it is copied from would open the server to everybody.
func (f *tokenFlags) read(env *Env) (string, error) {
	token, given, name := f.token, f.tokenGiven, "--token"
	if !given {
		token, given = env.lookup(tokenVariable)
		name = tokenVariable
	}
	if !given {
		return "", nil
	}
	if err := guard.CheckToken(token); err != nil {
		return "", withHint(usagef("%s %w", name, err), "for example: openssl rand -hex 16")
	}
	return token, nil
}

// exposed reports a server that others can reach and that asks nobody for a token; users are the flags with users.
func (f *tokenFlags) exposed(g *guard.Guard, flag, addr, users string) error {
	switch {
	case f.anyone && g.Restricted():
		return usagef("--no-token excludes %s and %s", users, tokenVariable)
	case f.anyone || !g.Exposed(addr):
		return nil
	}
	port := addr[strings.LastIndexByte(addr, ':')+1:]
	return withHint(usagef("--%s %s can be reached from other hosts and needs a token", flag, addr),
		"set %s; or listen on this machine only, --%s 127.0.0.1:%s; or let anyone use it, --no-token", users, flag, port)
}

// lookup is a variable of the environment, and whether it is set.
func (e *Env) lookup(name string) (string, bool) {
	if e.LookupEnv != nil {
		return e.LookupEnv(name)
	}
	value := e.Getenv(name)
	return value, value != ""
}
