import type { StreamTranscript } from '../../domain/speech/stt.ts'

/**
 * A transcript as the contract has it, put together by hand: a socket sends one for every frame of audio, and only its text and its words can
 * hold what JSON must escape. `languageJson` is what the client asked for, which a provider that detects may know better.
 */
export function transcriptFrame(transcript: StreamTranscript, languageJson: string): string {
  const { utterance, text, startMs, endMs } = transcript
  const spoken = transcript.language === undefined ? languageJson : JSON.stringify(transcript.language)
  return `{"type":"transcript","id":"utt_${utterance}","text":${quoted(text)}${flagsOf(transcript)}${Math.round(startMs)},"endMs":${Math.round(endMs)},"language":${spoken}${restOf(transcript)}`
}

/** JSON.stringify leaves JavaScript and comes back, which costs twice what it does for a text as short as these. */
const quoted = (text: string) => (mustEscape.test(text) ? JSON.stringify(text) : `"${text}"`)
const mustEscape = /[^ !#-[\]-~]/

/** In one piece: a text is a chain of the pieces it was put together from until it is sent. */
function flagsOf({ isFinal, speechFinal }: StreamTranscript): string {
  if (!isFinal && !speechFinal) return ',"isFinal":false,"speechFinal":false,"startMs":'
  return `,"isFinal":${isFinal},"speechFinal":${speechFinal},"startMs":`
}

function restOf({ confidence, words }: StreamTranscript): string {
  if (confidence === undefined && words === undefined) return '}'
  return `${confidence === undefined ? '' : `,"confidence":${confidence}`}${words ? `,"words":${wordsOf(words)}` : ''}}`
}

function wordsOf(words: NonNullable<StreamTranscript['words']>): string {
  return JSON.stringify(
    words.map(({ startMs, endMs, ...word }) => ({ ...word, startMs: Math.round(startMs), endMs: Math.round(endMs) })),
  )
}
