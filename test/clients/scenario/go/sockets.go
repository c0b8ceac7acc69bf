package main

import (
	"context"
	"errors"
	"os"
	"slices"

	"parley"
	"parley/realtime"
)

var socketSteps = []step{
	{"socket_transcribe", socketTranscribe},
	{"socket_synthesize", socketSynthesize},
	{"socket_refused", socketRefused},
}

const (
	frameBytes  = 3200
	normalClose = 1000
)

func socketTranscribe(ctx context.Context) (values, error) {
	recording, err := os.ReadFile(variable("PARLEY_WAV"))
	if err != nil {
		return nil, err
	}
	socket, err := sockets.TranscribeStream(ctx)
	if err != nil {
		return nil, err
	}
	defer socket.Close()
	sent := make(chan error, 1)
	go func() { sent <- sendRecording(ctx, socket, recording) }()
	words := ""
	for frame, err := range socket.Frames(ctx) {
		if err != nil {
			return nil, err
		}
		if transcript, isTranscript := frame.(realtime.TranscriptFrame); isTranscript && transcript.IsFinal {
			words += transcript.Text + " "
		}
	}
	return values{"words": wordsOf(words), "close": normalClose}, <-sent
}

func sendRecording(ctx context.Context, socket *realtime.TranscribeStreamSocket, recording []byte) error {
	config := realtime.STTConfig{Language: parley.Ptr("en"), ContentType: parley.Ptr(realtime.STTConfigContentTypeAudioWAV)}
	if err := socket.Send(ctx, config); err != nil {
		return err
	}
	for chunk := range slices.Chunk(recording, frameBytes) {
		if err := socket.Send(ctx, realtime.Audio(chunk)); err != nil {
			return err
		}
	}
	return socket.Send(ctx, realtime.EndFrame{})
}

func socketSynthesize(ctx context.Context) (values, error) {
	socket, err := sockets.SynthesizeStream(ctx)
	if err != nil {
		return nil, err
	}
	defer socket.Close()
	for _, frame := range []realtime.SynthesizeStreamSent{
		realtime.TTSConfig{Model: parley.Ptr(loopback.Model)},
		realtime.TextFrame{Text: text},
		realtime.EndFrame{},
	} {
		if err := socket.Send(ctx, frame); err != nil {
			return nil, err
		}
	}
	bytes, characters := 0, int64(0)
	for frame, err := range socket.Frames(ctx) {
		if err != nil {
			return nil, err
		}
		switch frame := frame.(type) {
		case realtime.Audio:
			bytes += len(frame)
		case realtime.SpeechEndFrame:
			characters = frame.Usage.Characters
		}
	}
	return values{"bytes": bytes, "characters": characters, "close": normalClose}, nil
}

func socketRefused(ctx context.Context) (values, error) {
	socket, err := sockets.SynthesizeStream(ctx)
	if err != nil {
		return nil, err
	}
	defer socket.Close()
	if err := socket.Send(ctx, realtime.TTSConfig{SampleRate: parley.Ptr[int64](1)}); err != nil {
		return nil, err
	}
	for _, err = range socket.Frames(ctx) {
		if err != nil {
			break
		}
	}
	var closed *parley.SocketClosedError
	if !errors.As(err, &closed) {
		return nil, errors.Join(errors.New("the socket closed without an error"), err)
	}
	return values{"code": closed.Code, "close": closed.CloseCode, "retryable": closed.Retryable}, nil
}
