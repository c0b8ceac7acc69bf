import { readdirSync } from 'node:fs'
import { lanes } from './lanes.mjs'

export function filesOfLane(name) {
  const own = Object.entries(lanes).filter(([, { files }]) => files !== undefined)
  return allFiles().filter((file) => own.find(([, { files }]) => files(file))?.[0] === name)
}

function allFiles() {
  return readdirSync('test', { recursive: true })
    .filter((file) => file.endsWith('.test.ts') && !file.includes('node_modules'))
    .map((file) => `test/${file}`)
    .sort()
}
