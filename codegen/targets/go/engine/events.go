package parley

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

var errNoLastEvent = errors.New("the stream ended before its last event")

// eventBytesMax is the longest event, in bytes of its lines.
const eventBytesMax = 16 << 20

var errLongEvent = &ProtocolError{Message: fmt.Sprintf("an event is longer than %d bytes", eventBytesMax)}

// byteOrderMark may be before the first line.
const byteOrderMark = "\ufeff"

// frame is one event on the wire.
type frame struct {
	id, event string
	data      []byte
}

// frameReader reads an event stream: lines end in LF, CR or CRLF, a blank line ends an event, and a colon starts a
// comment.
type frameReader struct {
	lines *bufio.Scanner
	id    string
}

func newFrameReader(body io.Reader) *frameReader {
	lines := bufio.NewScanner(body)
	// A line can end in CR and LF.
	lines.Buffer(nil, eventBytesMax+2)
	lines.Split(newLineSplitter())
	return &frameReader{lines: lines}
}

// newLineSplitter ends a line at a CR at once, and then ignores an LF, because the LF may come much later. It looks at
// each byte once, because a line that comes in many pieces would take quadratic time otherwise.
func newLineSplitter() bufio.SplitFunc {
	isAfterCR, seen := false, 0
	return func(data []byte, isLast bool) (int, []byte, error) {
		start := 0
		if isAfterCR && bytes.HasPrefix(data, []byte("\n")) {
			start = 1
		}
		seen = max(seen, start)
		length := bytes.IndexAny(data[seen:], "\r\n")
		if length < 0 && isLast {
			return len(data), nil, nil
		}
		if length < 0 {
			seen = len(data)
			return 0, nil, nil
		}
		end := seen + length
		isAfterCR, seen = data[end] == '\r', 0
		return end + 1, data[start:end:end], nil
	}
}

// next returns the next event with data. It returns an error if the stream ends.
func (r *frameReader) next() (frame, error) {
	var data [][]byte
	event, id, size := "", r.id, 0
	for r.lines.Scan() {
		size += len(r.lines.Bytes())
		if size > eventBytesMax {
			return frame{}, errLongEvent
		}
		name, value, _ := strings.Cut(r.lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch strings.TrimPrefix(name, byteOrderMark) {
		case "event":
			event = value
		case "id":
			id = value
		case "data":
			data = append(data, []byte(value))
		}
		if r.lines.Text() != "" {
			continue
		}
		// The id counts only at the end of its event.
		r.id = id
		if data != nil {
			return frame{id, event, bytes.Join(data, []byte("\n"))}, nil
		}
		event, size = "", 0
	}
	return frame{}, r.end()
}

func (r *frameReader) end() error {
	if errors.Is(r.lines.Err(), bufio.ErrTooLong) {
		return errLongEvent
	}
	if r.lines.Err() != nil {
		return r.lines.Err()
	}
	return errNoLastEvent
}
