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

/** Every routing decision asks for the models, so the folder is looked at only this often. */
const lookMs = 2000

export class OfferedModels {
  readonly #modelsDir: string
  readonly #clock: Clock
  #lookedAtMs = Number.NEGATIVE_INFINITY
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

  /** Offers exactly these models from now on. Configured prices are applied in this way. */
  set models(models: readonly Model[]) {
    this.#models = models
    this.#lookedAtMs = Number.POSITIVE_INFINITY
  }

  /** Returns the models without files, with the command to add them. */
  get installable(): readonly Installable[] {
    this.#look()
    return localModels.flatMap((model) =>
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
    if (missing.join() === this.#missing.join() && this.#models !== localModels) return
    this.#missing = missing
    this.#models = localModels.filter(({ id }) => !missing.includes(id))
  }
}
