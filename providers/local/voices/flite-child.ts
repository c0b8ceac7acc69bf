/** The entry file for a process that speaks with Flite. Only fork starts it. */
import { fliteRateHz, openFlite } from './flite.ts'
import { serveVoice } from './serve-voice.ts'

serveVoice({ open: openFlite, sampleRateHz: fliteRateHz, voice: 'rms' })
