/** Emits the clients in all languages but TypeScript, which codegen/generate.ts emits with each API. */
import type { Surface } from '../clients/model.ts'
import { withoutRepeatedTexts } from '../clients/texts.ts'
import { emitCsharp } from './csharp/csharp.ts'
import { emitGo } from './go/client.ts'
import { emitJava } from './java/java.ts'
import { emitPython } from './python/python.ts'
import { emitRust } from './rust/client.ts'

type Files = ReadonlyMap<string, string>

/** Each target returns its files by their paths. */
const targets: readonly ((surfaces: readonly Surface[]) => Files)[] = [
  emitPython,
  emitGo,
  emitJava,
  emitRust,
  emitCsharp,
]

export function emitClients(surfaces: readonly Surface[]): Files {
  const brief = surfaces.map(withoutRepeatedTexts)
  return new Map(targets.flatMap((emit) => [...emit(brief)]))
}
