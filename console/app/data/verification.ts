/** The verification of the organization's business. The organization may buy numbers once the business is approved. */
import { queryOptions, useMutation } from '@tanstack/react-query'
import type {
  BusinessVerificationDraft,
  NewBusinessVerification,
} from '../../../generated/clients/typescript/models/platform.ts'
import { platform } from './clients.ts'
import { queries } from './queries.ts'

export const verificationQuery = queryOptions({
  queryKey: ['verification'],
  queryFn: async ({ signal }) => (await platform.getBusinessVerification({ signal })).body,
})

/** Another person may have submitted the business meanwhile, so the page reads its state also after an error. */
const refreshVerification = () => queries.invalidateQueries({ queryKey: verificationQuery.queryKey })

export const useSaveVerification = () =>
  useMutation({
    mutationFn: async (body: BusinessVerificationDraft) => {
      await platform.saveBusinessVerificationDraft({ body })
    },
    onSettled: refreshVerification,
  })

export const useSubmitVerification = () =>
  useMutation({
    mutationFn: async (body: NewBusinessVerification) => {
      await platform.submitBusinessVerification({ body })
    },
    onSettled: refreshVerification,
  })
