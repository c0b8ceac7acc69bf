import { readFileSync } from 'node:fs'
import { packageFile } from './package-file.ts'

export const { version } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string }
