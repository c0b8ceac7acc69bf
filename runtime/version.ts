import { readFileSync } from 'node:fs'

const file = new URL(import.meta.url.endsWith('.js') ? '../../package.json' : '../package.json', import.meta.url)

/** The version of this Parley. */
export const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string }
