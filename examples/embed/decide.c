/* Says which samplers a device does not honour, before there is any draw: decide DEVICE.json
 *
 * cc -Icapi/include examples/embed/decide.c -Ltarget/release -lsamplin_core -o decide */
#include <stdio.h>
#include <stdlib.h>
#include <vulkan/vulkan_core.h>

#include "samplin_core.h"

/* The textures of a program, each with the sampler that its shaders read it through. */
static const struct {
    const char *name;
    VkFormat format;
    VkFilter filter;
    VkSamplerAddressMode address;
    VkBorderColor border;
} textures[] = {
    {"albedo", VK_FORMAT_R8G8B8A8_SRGB, VK_FILTER_LINEAR, VK_SAMPLER_ADDRESS_MODE_REPEAT, VK_BORDER_COLOR_FLOAT_TRANSPARENT_BLACK},
    {"heights", VK_FORMAT_R32_SFLOAT, VK_FILTER_LINEAR, VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_EDGE, VK_BORDER_COLOR_FLOAT_TRANSPARENT_BLACK},
    {"depth", VK_FORMAT_D32_SFLOAT, VK_FILTER_LINEAR, VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER, VK_BORDER_COLOR_FLOAT_OPAQUE_WHITE},
    {"object ids", VK_FORMAT_R32_UINT, VK_FILTER_NEAREST, VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER, VK_BORDER_COLOR_FLOAT_OPAQUE_WHITE},
};

static char *text_of(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    long size = -1;
    if (file && fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0) {
        rewind(file);
        text = malloc((size_t)size + 1);
        *length = text ? fread(text, 1, (size_t)size, file) : 0;
    }
    if (file) {
        fclose(file);
    }
    return text;
}

int main(int count, char **arguments) {
    size_t length = 0;
    char *text = count == 2 ? text_of(arguments[1], &length) : NULL;
    if (!text) {
        fprintf(stderr, "usage: decide DEVICE.json\n");
        return 2;
    }
    char why[256] = "";
    SamplinDevice *device = NULL;
    if (samplin_device_from_json(text, length, &device, why, sizeof why) != SAMPLIN_RESULT_SUCCESS) {
        fprintf(stderr, "%s: %s\n", arguments[1], why);
        free(text);
        return 3;
    }
    free(text);

    int findings = 0;
    for (size_t i = 0; i < sizeof textures / sizeof *textures; i++) {
        SamplinSampler sampler = {.size = sizeof sampler};
        sampler.mag_filter = sampler.min_filter = textures[i].filter;
        sampler.address_mode[0] = sampler.address_mode[1] = sampler.address_mode[2] = textures[i].address;
        sampler.border_color = textures[i].border;
        sampler.max_lod = VK_LOD_CLAMP_NONE;

        SamplinView view = {.size = sizeof view};
        samplin_view_2d(textures[i].format, &view);

        SamplinOutcome *outcome = NULL;
        if (samplin_decide(device, &sampler, &view, &outcome) != SAMPLIN_RESULT_SUCCESS) {
            return 1;
        }
        for (size_t n = 0; n < samplin_outcome_change_count(outcome); n++, findings++) {
            SamplinChange change = {.size = sizeof change};
            samplin_outcome_change(outcome, n, &change);
            printf("%s: %s %s -> %s\n  %s (%s); lost: %s\n", textures[i].name, change.field, change.from, change.to, change.because,
                   change.vuid ? change.vuid : change.rule, change.lost);
        }
        /* What to create instead. */
        samplin_outcome_sampler(outcome, &sampler);
        samplin_outcome_destroy(outcome);
    }
    samplin_device_destroy(device);
    return findings > 0;
}
