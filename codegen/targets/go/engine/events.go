package parley

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

var (
	errNoLastEvent = errors.New("the stream ended before its last event")
	errLongEvent   = errors.New("an event is longer than the client's limit")
)

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
	lines    *bufio.Scanner
	bytesMax int
	id       string
}

func newFrameReader(body io.Reader, bytesMax int) *frameReader {
	lines := bufio.NewScanner(body)
	// A line can have the field's name, a colon and a space before the data.
	lines.Buffer(nil, bytesMax+len("data: \n"))
	lines.Split(newLineSplitter())
	return &frameReader{lines: lines, bytesMax: bytesMax}
}

// newLineSplitter ends a line at a CR at once, and then ignores an LF, because the LF may come much later.
func newLineSplitter() bufio.SplitFunc {
	isAfterCR := false
	return func(data []byte, isLast bool) (int, []byte, error) {
		start := 0
		if isAfterCR && bytes.HasPrefix(data, []byte("\n")) {
			start = 1
		}
		length := bytes.IndexAny(data[start:], "\r\n")
		if length < 0 && isLast {
			return len(data), nil, nil
		}
		if length < 0 {
			return 0, nil, nil
		}
		end := start + length
		isAfterCR = data[end] == '\r'
		return end + 1, data[start:end:end], nil
	}
}

// next returns the next event with data. It returns an error if the stream ends.
func (r *frameReader) next() (frame, error) {
	var data [][]byte
	event, size := "", 0
	for r.lines.Scan() {
		name, value, _ := strings.Cut(r.lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch strings.TrimPrefix(name, byteOrderMark) {
		case "event":
			event = value
		case "id":
			r.id = value
		case "data":
			data, size = append(data, []byte(value)), size+len(value)+1
		}
		if size > r.bytesMax {
			return frame{}, errLongEvent
		}
		if r.lines.Text() != "" {
			continue
		}
		if data != nil {
			return frame{r.id, event, bytes.Join(data, []byte("\n"))}, nil
		}
		event = ""
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
