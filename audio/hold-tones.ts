/**
 * Generates sounds for a caller on hold, so that no licence for recordings is needed. Each clip repeats without a
 * click.
 */

/** The tones `ringback` and `dialtone` are North America's (ITU-T E.180). */
export type HoldTone = 'music' | 'ringback' | 'dialtone'

/** -26 dB full scale, so the sound is quieter than a voice at -20 dB. */
const level = 0.05 * 32_768
const made = new Map<string, Int16Array>()

/** Returns the clip and caches it. A clip has half a megabyte at most. */
export function holdClip(tone: HoldTone, rateHz: number): Int16Array {
  const key = `${tone} ${rateHz}`
  const cached = made.get(key)
  if (cached) return cached
  const clip = makers[tone](rateHz)
  made.set(key, clip)
  return clip
}

const makers: Readonly<Record<HoldTone, (rateHz: number) => Int16Array>> = {
  music: (rateHz) => melody(rateHz),
  ringback: (rateHz) => clipOf(6 * rateHz, (s) => (s < 2 ? wave(440, s) + wave(480, s) : 0), rateHz),
  // Both tones have a whole number of waves in a second, so the clip's end joins its beginning.
  dialtone: (rateHz) => clipOf(rateHz, (s) => wave(350, s) + wave(440, s), rateHz),
}

/** One broken chord each second. The notes fade, so the clip is silent where it repeats. */
const chordsHz = [
  [261.63, 329.63, 392],
  [220, 261.63, 329.63],
  [174.61, 220, 261.63],
  [196, 246.94, 293.66],
] as const
const chordS = 2
const noteS = chordS / 4

function melody(rateHz: number): Int16Array {
  return clipOf(
    chordsHz.length * chordS * rateHz,
    (s) => {
      const chord = chordsHz[Math.floor(s / chordS)]!
      const place = Math.floor((s % chordS) / noteS)
      const hz = chord[place === 3 ? 1 : place]!
      const at = s % noteS
      const fade = Math.min(1, at / 0.02) * Math.min(1, (noteS - at) / 0.05) * Math.exp(-2 * at)
      return 1.6 * fade * (wave(hz, at) + 0.3 * wave(2 * hz, at))
    },
    rateHz,
  )
}

const wave = (hz: number, s: number) => Math.sin(2 * Math.PI * hz * s)

function clipOf(length: number, valueAt: (s: number) => number, rateHz: number): Int16Array {
  return Int16Array.from({ length }, (_, i) => Math.round(level * valueAt(i / rateHz)))
}
