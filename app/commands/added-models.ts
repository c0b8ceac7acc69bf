/** The commands for models that the operator adds to this machine. */
import type { AddModelRequest, ModelState } from '../../cli/actions.ts'
import { UsageError } from '../../cli/command-error.ts'
import type { ParleyConfig } from '../../generated/config/types.ts'
import {
  addModel,
  installableModels,
  modelStates,
  removeModel,
  unknownModelMessage,
} from '../../providers/local/installation/models-folder.ts'
import { makeDataDir } from '../../runtime/process/data-dir.ts'
import { modelsFolder } from '../engines.ts'

export async function addTo(config: ParleyConfig, request: AddModelRequest): Promise<{ folder: string }> {
  requireKnown(request.id)
  if (config.local.modelsDir === null) makeDataDir(config.dataDir)
  return addModel({ ...request, modelsDir: modelsFolder(config) })
}

export function removeFrom(config: ParleyConfig, id: string): Promise<boolean> {
  requireKnown(id)
  return removeModel(id, modelsFolder(config))
}

export function statesIn(config: ParleyConfig): Promise<ModelState[]> {
  return modelStates(modelsFolder(config))
}

function requireKnown(id: string): void {
  if (!installableModels.some((model) => model.id === id)) throw new UsageError(unknownModelMessage(id))
}
