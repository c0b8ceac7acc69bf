/** The entry file for a process that speaks with Pico. Only fork starts it. */
import { serveVoice } from '../serve-voice.ts'
import { openPico } from './pico.ts'
import { picoRateHz } from './pico-data.ts'

serveVoice({ open: openPico, sampleRateHz: picoRateHz, voice: 'de-DE' })
