// The details that the page of --html needs beside those on the screen.
#pragma once

#include "btf/report/inspect_page.h"
#include "cli/options.h"
#include "inspect/details.h"

namespace btftool {

// The options with statistics, a histogram and channels.
InspectOptions for_page(InspectOptions options);

btf::InspectedTensor page_details(const InspectDetails& details);

// Takes back what for_page() added.
void keep_asked_for(InspectDetails& details, const InspectOptions& options);

}  // namespace btftool
