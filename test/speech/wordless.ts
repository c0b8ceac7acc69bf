/** Sounds without words, as on a telephone line: 8 kHz, mono, s16le. */
const rateHz = 8000
const lengthS = 5

export type Wordless = { name: string; samples: Uint8Array }

/** Returns 50 sounds: silence and hum (5), noise (20), tones (15) and music (10). They are the same in each run. */
export function wordlessSounds(): Wordless[] {
  let seed = 1
  const random = () => (seed = (seed * 1664525 + 1013904223) % 2 ** 32) / 2 ** 31 - 1
  const sound = (name: string, at: (s: number, i: number) => number): Wordless => ({
    name,
    samples: new Uint8Array(
      Int16Array.from({ length: rateHz * lengthS }, (_, i) =>
        Math.max(-32_768, Math.min(32_767, Math.round(at(i / rateHz, i)))),
      ).buffer,
    ),
  })
  const levels = [30, 300, 1000, 4000, 12_000]
  return [
    ...[0, 1, 3, 10].map((level) => sound(`silence ${level}`, () => level * random())),
    sound('mains hum', (s) => 300 * sine(50, s) + 150 * sine(100, s)),
    ...levels.map((level) => sound(`white noise ${level}`, () => level * random())),
    ...levels.map((level) =>
      sound(
        `brown noise ${level}`,
        filtered(0.98, () => 3 * level * random()),
      ),
    ),
    ...levels.map((level) => sound(`noise in waves ${level}`, (s) => level * random() * (0.6 + 0.4 * sine(0.5, s)))),
    ...levels.map((level) => sound(`clicks ${level}`, (_, i) => (i % 1600 < 8 ? 2 * level * random() : 0))),
    ...[300, 425, 700, 1000, 1400, 2000, 3000].map((hertz) => sound(`tone ${hertz} Hz`, (s) => 8000 * sine(hertz, s))),
    ...[425, 480].map((hertz) => sound(`busy tone ${hertz} Hz`, (s) => (s % 1 < 0.5 ? 8000 * sine(hertz, s) : 0))),
    ...[440, 400].map((hertz) => sound(`ringing ${hertz} Hz`, (s) => (s % 3 < 1 ? 6000 * sine(hertz, s) : 0))),
    ...keys.map(([low, high]) =>
      sound(`key ${low} ${high}`, (s) => (s % 0.5 < 0.2 ? 5000 * (sine(low, s) + sine(high, s)) : 0)),
    ),
    ...[0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((which) => sound(`music ${which}`, music(which, random))),
  ]
}

const keys = [
  [697, 1209],
  [770, 1336],
  [852, 1477],
  [941, 1336],
] as const

const sine = (hertz: number, s: number) => Math.sin(2 * Math.PI * hertz * s)

/** A low-pass filter over a signal. */
function filtered(share: number, input: () => number): () => number {
  let last = 0
  return () => (last = share * last + (1 - share) * input() * 5)
}

/** Fading chords with overtones, a melody above them, and a beat. Each number has another key and tempo. */
function music(which: number, random: () => number): (s: number) => number {
  const root = 110 * 2 ** (which / 12)
  const beatS = 0.35 + 0.05 * (which % 4)
  const chords = [
    [0, 4, 7],
    [5, 9, 12],
    [7, 11, 14],
    [0, 4, 7],
  ]
  const melody = [12, 16, 19, 16, 17, 21, 19, 14]
  return (s) => {
    const beat = Math.floor(s / beatS)
    const fade = Math.exp(-3 * (s / beatS - beat))
    const notes = [...(chords[Math.floor(beat / 2) % 4] as number[]), melody[(beat * (which + 1)) % 8] as number]
    let sum = 0
    for (const note of notes)
      for (const overtone of [1, 2, 3]) sum += sine(root * 2 ** (note / 12) * overtone, s) / overtone
    const drum = which % 2 === 0 ? random() * Math.exp(-30 * (s / beatS - beat)) : 0
    return 1800 * fade * sum + 4000 * drum
  }
}
