// Shows what a Go program makes of the arguments of a call: encoding/json takes a key in another
// case for the key of a field.
//
// "read" takes arguments on stdin, one JSON object per line, and prints what ended up in the fields.
// "fold" prints every pair of letters that Go takes for one when it ignores case.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"unicode"
)

type arguments struct {
	Command string  `json:"command,omitempty"`
	Task    string  `json:"task,omitempty"`
	Options options `json:"options"`
	Items   []item  `json:"items,omitempty"`
}

type options struct {
	Path string `json:"path,omitempty"`
}

type item struct {
	Name string `json:"name,omitempty"`
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "fold" {
		fold()
		return
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var read arguments
		if err := json.Unmarshal(lines.Bytes(), &read); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		out, err := json.Marshal(read)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(string(out))
	}
}

func fold() {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for letter := rune(0); letter <= unicode.MaxRune; letter++ {
		if other := unicode.SimpleFold(letter); other != letter {
			fmt.Fprintf(out, "%x %x\n", letter, other)
		}
	}
}
