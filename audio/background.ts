/**
 * Generates background sounds for a call from noise, so that no licence for recordings is needed. The same name and
 * rate always give the same samples. All clips are equally loud and repeat without a click.
 */
import { loopTurn } from './loop-turn.ts'

export const backgroundNames = ['office-ambience', 'city-ambience', 'crowded-room', 'keyboard-typing'] as const
export type BackgroundName = (typeof backgroundNames)[number]

const seconds = 8
/** The time over which the clip's end fades into the sound before its beginning, so that the loop has no click. */
const fadeSeconds = 0.5
/** The clip's level: -38 dB full scale, well below a voice at -20 dB. */
const rootMeanSquare = 0.0126
const made = new Map<string, Promise<Int16Array>>()

/**
 * Generates a clip or returns it from the cache. The first generation for a name and a rate takes up to 200 ms, in
 * steps, so other work runs between them.
 */
export function backgroundClip(name: BackgroundName, rateHz: number): Promise<Int16Array> {
  const key = `${name} ${rateHz}`
  const cached = made.get(key)
  if (cached) return cached
  const clip = makers[name](rateHz, (seconds + fadeSeconds) * rateHz).then((sound) =>
    levelled(joined(sound, fadeSeconds * rateHz)),
  )
  made.set(key, clip)
  return clip
}

type Maker = (rateHz: number, length: number) => Promise<Float32Array>

const makers: Readonly<Record<BackgroundName, Maker>> = {
  'office-ambience': async (rateHz, length) => {
    const sound = noise(1, length)
    lowPass(sound, 300, rateHz)
    add(sound, await voices(11, 3, rateHz, length), 0.4)
    await loopTurn()
    add(sound, keys(12, 0.6, rateHz, length), 0.15)
    return sound
  },
  'city-ambience': async (rateHz, length) => {
    const sound = noise(2, length)
    lowPass(sound, 150, rateHz)
    lowPass(sound, 600, rateHz)
    await loopTurn()
    swell(sound, 0.6, [0.11, 0.23, 0.31], rateHz)
    await loopTurn()
    const tyres = noise(3, length)
    lowPass(tyres, 1500, rateHz)
    swell(tyres, 0.9, [0.13, 0.29], rateHz)
    add(sound, tyres, 0.12)
    return sound
  },
  'crowded-room': async (rateHz, length) => {
    const sound = await voices(4, 12, rateHz, length)
    const room = noise(5, length)
    lowPass(room, 400, rateHz)
    add(sound, room, 0.2)
    return sound
  },
  'keyboard-typing': (rateHz, length) => Promise.resolve(keys(6, 6, rateHz, length)),
}

/** Returns a random number generator (mulberry32). Its 32-bit state is enough for noise. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function noise(seed: number, length: number): Float32Array {
  const next = random(seed)
  const sound = new Float32Array(length)
  for (let i = 0; i < length; i++) sound[i] = 2 * next() - 1
  return sound
}

/** Attenuates frequencies above `hz` by 6 dB per octave, by a filter with one pole. */
function lowPass(sound: Float32Array, hz: number, rateHz: number): void {
  const step = 1 - Math.exp((-2 * Math.PI * hz) / rateHz)
  let value = 0
  for (let i = 0; i < sound.length; i++) {
    value += step * (sound[i]! - value)
    sound[i] = value
  }
  normalize(sound)
}

/** Amplifies frequencies around `hz`, by a filter with two poles. */
function resonance(sound: Float32Array, hz: number, widthHz: number, rateHz: number): Float32Array {
  const radius = Math.exp((-Math.PI * widthHz) / rateHz)
  const turn = 2 * radius * Math.cos((2 * Math.PI * hz) / rateHz)
  const result = new Float32Array(sound.length)
  let last = 0
  let before = 0
  for (let i = 0; i < sound.length; i++) {
    const value = sound[i]! + turn * last - radius * radius * before
    before = last
    last = value
    result[i] = value
  }
  normalize(result)
  return result
}

/** Raises and lowers the level in slow waves, like passing cars. */
function swell(sound: Float32Array, depth: number, ratesHz: readonly number[], rateHz: number): void {
  for (let i = 0; i < sound.length; i++) {
    const wave = ratesHz.reduce((sum, hz, n) => sum + Math.sin((2 * Math.PI * hz * i) / rateHz + n), 0) / ratesHz.length
    sound[i]! *= 1 - depth / 2 + (depth / 2) * wave
  }
}

/** Generates a murmur without words: vowel formants, cut into syllables. */
async function voices(seed: number, count: number, rateHz: number, length: number): Promise<Float32Array> {
  const sum = new Float32Array(length)
  const next = random(seed)
  for (let voice = 0; voice < count; voice++) {
    const breath = noise(seed * 100 + voice, length)
    const throat = resonance(breath, 350 + 350 * next(), 120, rateHz)
    add(throat, resonance(breath, 1000 + 900 * next(), 200, rateHz), 0.4)
    syllables(throat, next, rateHz)
    add(sum, throat, 1)
    await loopTurn()
  }
  normalize(sum)
  return sum
}

function syllables(sound: Float32Array, next: () => number, rateHz: number): void {
  for (let at = 0; at < sound.length; ) {
    const length = Math.round((0.12 + 0.2 * next()) * rateHz)
    const level = next() < 0.25 ? 0 : 0.4 + 0.6 * next()
    const end = Math.min(sound.length, at + length)
    for (let i = at; i < end; i++) sound[i]! *= level * Math.sin((Math.PI * (i - at)) / length)
    at = end
  }
}

/** Generates keyboard sounds at uneven times. Each key press is a click and a softer click 80 ms later. */
function keys(seed: number, perSecond: number, rateHz: number, length: number): Float32Array {
  const sound = new Float32Array(length)
  const next = random(seed)
  for (let at = 0; at < length; at += Math.round(((0.4 + 1.2 * next()) / perSecond) * rateHz)) {
    click(sound, at, 0.6 + 0.4 * next(), 1800 + 1500 * next(), rateHz, next)
    click(sound, at + Math.round(0.08 * rateHz), 0.3, 1200, rateHz, next)
  }
  normalize(sound)
  return sound
}

function click(sound: Float32Array, at: number, level: number, hz: number, rateHz: number, next: () => number): void {
  const end = Math.min(sound.length, at + Math.round(0.02 * rateHz))
  for (let i = at; i < end; i++) {
    const t = (i - at) / rateHz
    sound[i]! += level * Math.exp(-t * 400) * (Math.sin(2 * Math.PI * hz * t) + 0.5 * (2 * next() - 1))
  }
}

function add(sound: Float32Array, other: Float32Array, level: number): void {
  for (let i = 0; i < sound.length; i++) sound[i]! += level * other[i]!
}

function levelOf(sound: Float32Array): number {
  let sum = 0
  for (const value of sound) sum += value * value
  return Math.sqrt(sum / sound.length)
}

function normalize(sound: Float32Array): void {
  const level = levelOf(sound)
  for (let i = 0; i < sound.length; i++) sound[i]! /= level
}

function joined(sound: Float32Array, fade: number): Float32Array {
  const clip = sound.slice(fade)
  for (let i = 0; i < fade; i++) {
    const part = Math.sqrt(i / fade)
    const at = clip.length - fade + i
    clip[at] = clip[at]! * Math.sqrt(1 - part * part) + sound[i]! * part
  }
  return clip
}

function levelled(sound: Float32Array): Int16Array {
  const gain = (rootMeanSquare / levelOf(sound)) * 32_768
  return Int16Array.from(sound, (value) => Math.max(-32_768, Math.min(32_767, Math.round(value * gain))))
}
