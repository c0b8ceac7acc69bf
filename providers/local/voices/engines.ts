/** The embedded voice engines. The first engine is warmed up with the server. */
import { fliteEngine } from './flite-engine.ts'
import type { VoiceEngine } from './voice-engine.ts'

export const voiceEngines: readonly VoiceEngine[] = [fliteEngine]
