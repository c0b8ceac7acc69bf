/**
 * Lists the provider's models at this moment. After the user has added a model's files, the model appears without a
 * restart, and it disappears when it is removed.
 */
import path from 'node:path'
import type { Model } from '../../domain/ports/model.ts'
import type { Installable } from '../../domain/ports/provider.ts'
import type { Clock } from '../../domain/ports/system.ts'
import { localModels } from './models.ts'
import { recognizers } from './recognizers.ts'
import { isInstalled } from './weights/installed-model.ts'

/** Every routing decision reads the model list, so the folder is checked at most once in this time. */
const lookMs = 2000

export class OfferedModels {
  readonly #modelsDir: string
  readonly #clock: Clock
  #lookedAtMs = Number.NEGATIVE_INFINITY
  /** The offered models, and the models whose files are missing. */
  #all: readonly Model[] = localModels
  #missing: readonly string[] = []
  #models: readonly Model[] = localModels

  constructor(modelsDir: string, clock: Clock) {
    this.#modelsDir = path.resolve(modelsDir)
    this.#clock = clock
  }

  /** Returns the same array until the models change. */
  get models(): readonly Model[] {
    this.#look()
    return this.#models
  }

  /** Changes the offered models and the models that may be offered later, for example to apply configured prices. */
  rewrite(change: (model: Model) => Model): void {
    this.#all = this.#all.map(change)
    this.#offer()
  }

  /** Returns the models without files, with the command to add them. */
  get installable(): readonly Installable[] {
    this.#look()
    return this.#all.flatMap((model) =>
      this.#missing.includes(model.id) ? [{ model, command: `parley models add ${model.id}` }] : [],
    )
  }

  #look(): void {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - this.#lookedAtMs < lookMs) return
    this.#lookedAtMs = nowMs
    const missing = recognizers.flatMap(({ files }) =>
      files && !isInstalled(this.#modelsDir, files) ? [files.id] : [],
    )
    if (missing.join() === this.#missing.join()) return
    this.#missing = missing
    this.#offer()
  }

  #offer(): void {
    this.#models = this.#all.filter(({ id }) => !this.#missing.includes(id))
  }
}
