package launch

// call is a command: its words without quotes, and the line of each in its file.
type call struct {
	words []string
	lines []int
	// beside says that what follows it starts while it runs, and maybe that it is one of several ways which a script may go.
	beside, maybe bool
}

// add appends words of one line.
func (c *call) add(line int, words ...string) {
	for _, w := range words {
		c.words, c.lines = append(c.words, w), append(c.lines, line)
	}
}

// join appends the words of another call.
func (c *call) join(more call) {
	c.words, c.lines = append(c.words, more.words...), append(c.lines, more.lines...)
}

// from is the call without its first words.
func (c call) from(i int) call { return call{c.words[i:], c.lines[i:], c.beside, c.maybe} }
