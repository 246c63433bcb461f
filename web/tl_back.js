// SPDX-License-Identifier: Apache-2.0
// The way back from the timeline to where the reader came from: a finding, or a stretch of the ribbon.

import { link } from './dom.js';
import { hashOf, parseHash } from './state.js';

/* `back`: the address of a page here, "why?finding=…"; anything else leads to the first page. */
export function backLink(back, report) {
    const { page, params } = parseHash('#' + back);
    const finding = (report.findings || []).find((candidate) => candidate.id === params.finding);
    return link(`← ${finding ? finding.title : 'Back'}`, hashOf(page, params), { class: 'button', id: 'tl-back' });
}
