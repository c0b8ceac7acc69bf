/** The embedded voice engines. The first engine is warmed up with the server. */
import { fliteEngine } from './voices/flite-engine.ts'
import { hibariEngine } from './voices/hibari/hibari-engine.ts'
import { picoEngine } from './voices/pico/pico-engine.ts'
import type { VoiceEngine } from './voices/voice-engine.ts'

export const voiceEngines: readonly VoiceEngine[] = [hibariEngine, fliteEngine, picoEngine]
