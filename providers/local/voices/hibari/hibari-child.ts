/** The entry file for a process that speaks with the voice engine hibari. Only fork starts it. */
import { serveVoice } from '../serve-voice.ts'
import { openHibari } from './hibari.ts'
import { hibariRateHz } from './waveform.ts'

serveVoice({ open: openHibari, sampleRateHz: hibariRateHz, voice: 'heart' })
