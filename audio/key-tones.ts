/** DTMF tones: each key is a row tone and a column tone at once (ITU-T Q.23), at 8 kHz. */
const rateHz = 8000
export const keyToneSamples = 800
const rowsHz = [697, 770, 852, 941] as const
const columnsHz = [1209, 1336, 1477, 1633] as const
const places = '123A456B789C*0#D'
/** -10 dBm0 for the row tone. The column tone is 2 dB louder, because phone lines attenuate high tones. */
const rowPeak = 7050
const columnPeak = 8880

const made = new Map<string, Int16Array>()

/** Returns 100 ms of sound. The array is cached and must not be changed. Returns null if the character is not a key. */
export function keyTone(key: string): Int16Array | null {
  const cached = made.get(key)
  if (cached !== undefined) return cached
  const place = key.length === 1 ? places.indexOf(key) : -1
  if (place < 0) return null
  const [rowHz, columnHz] = [rowsHz[place >> 2] ?? 0, columnsHz[place & 3] ?? 0]
  const tone = Int16Array.from({ length: keyToneSamples }, (_, at) =>
    Math.round(rowPeak * wave(rowHz, at) + columnPeak * wave(columnHz, at)),
  )
  made.set(key, tone)
  return tone
}

const wave = (hz: number, at: number) => Math.sin((2 * Math.PI * hz * at) / rateHz)
