/** The embedded recognizers. The first recognizer is warmed up with the server, and aligns texts with audio. */
import { moonshineTiny } from './recognition/moonshine-tiny.ts'
import type { Recognizer } from './recognition/recognizer.ts'
import { whisperRecognizer } from './recognition/whisper/whisper-recognizer.ts'

export const recognizers: readonly [Recognizer, ...Recognizer[]] = [moonshineTiny, whisperRecognizer]
