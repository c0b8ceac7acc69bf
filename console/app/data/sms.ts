/** The registration for text messages in the USA (10DLC): the brand, the campaign and the numbers. */
import { queryOptions, useMutation } from '@tanstack/react-query'
import type {
  SmsBrand,
  SmsBrandProfile,
  SmsCampaignProfile,
  SmsVettingClass,
} from '../../../generated/clients/typescript/models/platform.ts'
import { platform } from './clients.ts'
import { queries } from './queries.ts'

export const smsQuery = queryOptions({
  queryKey: ['sms'],
  queryFn: async ({ signal }) => (await platform.getSmsRegistration({ signal })).body,
})

const refreshSms = () => queries.invalidateQueries({ queryKey: ['sms'] })

export const useSaveBrand = () =>
  useMutation({ mutationFn: (body: SmsBrandProfile) => platform.saveSmsBrand({ body }), onSettled: refreshSms })

/** Registers the brand, or sends its changes to the registry. */
export const useSubmitBrand = () =>
  useMutation({ mutationFn: () => platform.submitSmsBrand({}), onSettled: refreshSms })

/**
 * Whether the registry has the brand as it is saved here. If it has, submitting the brand again only reads all states.
 */
export const isSubmitted = (brand: SmsBrand | null) =>
  (brand?.status === 'pending' || brand?.status === 'verified') && !brand.hasUnsubmittedChanges

/** Reads all states from the registry. If another person has saved changes meanwhile, the page only shows them. */
async function readStates(): Promise<void> {
  const { ownBrand } = (await platform.getSmsRegistration({})).body
  if (isSubmitted(ownBrand)) await platform.submitSmsBrand({})
}

export const useReadStates = () => useMutation({ mutationFn: readStates, onSettled: refreshSms })

export const useOrderVetting = () =>
  useMutation({
    mutationFn: async (vettingClass: SmsVettingClass) =>
      (await platform.orderSmsBrandVetting({ body: { vettingClass } })).body,
    onSettled: refreshSms,
  })

export const useSaveCampaign = () =>
  useMutation({ mutationFn: (body: SmsCampaignProfile) => platform.saveSmsCampaign({ body }), onSettled: refreshSms })

/** Because of the idempotency key, a second press of the button submits no second campaign. */
export const useSubmitCampaign = () =>
  useMutation({
    mutationFn: (idempotencyKey: string) => platform.submitSmsCampaign({ idempotencyKey }),
    onSettled: refreshSms,
  })

export const useAssignNumber = () =>
  useMutation({
    mutationFn: (phoneNumberId: string) => platform.assignSmsNumber({ path: { phoneNumberId }, body: {} }),
    onSettled: refreshSms,
  })

export const useUnassignNumber = () =>
  useMutation({
    mutationFn: (phoneNumberId: string) => platform.unassignSmsNumber({ path: { phoneNumberId } }),
    onSettled: refreshSms,
  })
