// Draws colours, floats and depths by Direct3D 11, through LINEAR samplers, into a PPM picture.
//
//     dxvk-client VERTEX.dxbc PIXEL.dxbc PICTURE.ppm [nearest|anisotropic]
//
// With `nearest`, the samplers of floats and depths do not filter. With `anisotropic`, those of colours and floats are anisotropic.
// That is what a device that filters neither makes of the picture, and a rule that asks for anisotropy.

#include <d3d11.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

// Pixels of a side of the picture, texels of a side of an image, and its levels.
constexpr UINT SIDE = 64, LEVELS = 7;

// What is released at the end, so that DXVK destroys its device and the trace is whole.
static std::vector<IUnknown *> made;

static void check(HRESULT result, const char *what) {
    if (FAILED(result)) {
        std::fprintf(stderr, "%s: %08x\n", what, unsigned(result));
        std::exit(1);
    }
}

static std::vector<char> content(const char *path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

// What a texel holds, in fifteenths.
static unsigned fifteenths(UINT x, UINT y, UINT level) {
    return (x * 7 + y * 11 + level * 4) % 16;
}

static ID3D11ShaderResourceView *image(ID3D11Device *device, DXGI_FORMAT format) {
    std::vector<std::vector<uint8_t>> levels(LEVELS);
    std::vector<D3D11_SUBRESOURCE_DATA> data;
    for (UINT level = 0; level < LEVELS; ++level) {
        const UINT side = SIDE >> level, channels = format == DXGI_FORMAT_R32_FLOAT ? 1 : 4;
        const UINT bytes = format == DXGI_FORMAT_R8G8B8A8_UNORM ? 1 : 4;
        auto &texels = levels[level];
        texels.resize(side * side * channels * bytes);
        for (UINT at = 0; at < side * side * channels; ++at) {
            const UINT texel = at / channels;
            const unsigned value = fifteenths(texel % side, texel / side, level);
            if (bytes == 1) {
                texels[at] = uint8_t(value * 17);
            } else {
                const float number = float(value) / 15;
                std::memcpy(&texels[at * 4], &number, 4);
            }
        }
        data.push_back({texels.data(), side * channels * bytes, 0});
    }
    D3D11_TEXTURE2D_DESC about = {};
    about.Width = about.Height = SIDE;
    about.MipLevels = LEVELS;
    about.ArraySize = about.SampleDesc.Count = 1;
    about.Format = format;
    about.BindFlags = D3D11_BIND_SHADER_RESOURCE;
    ID3D11Texture2D *texture;
    ID3D11ShaderResourceView *view;
    check(device->CreateTexture2D(&about, data.data(), &texture), "CreateTexture2D");
    check(device->CreateShaderResourceView(texture, nullptr, &view), "CreateShaderResourceView");
    made.insert(made.end(), {texture, view});
    return view;
}

// Depths can only be drawn or cleared.
static ID3D11ShaderResourceView *depths(ID3D11Device *device, ID3D11DeviceContext *context) {
    D3D11_TEXTURE2D_DESC about = {};
    about.Width = about.Height = SIDE;
    about.MipLevels = LEVELS;
    about.ArraySize = about.SampleDesc.Count = 1;
    about.Format = DXGI_FORMAT_R32_TYPELESS;
    about.BindFlags = D3D11_BIND_SHADER_RESOURCE | D3D11_BIND_DEPTH_STENCIL;
    ID3D11Texture2D *texture;
    check(device->CreateTexture2D(&about, nullptr, &texture), "CreateTexture2D");
    for (UINT level = 0; level < LEVELS; ++level) {
        D3D11_DEPTH_STENCIL_VIEW_DESC own = {};
        own.Format = DXGI_FORMAT_D32_FLOAT;
        own.ViewDimension = D3D11_DSV_DIMENSION_TEXTURE2D;
        own.Texture2D.MipSlice = level;
        ID3D11DepthStencilView *view;
        check(device->CreateDepthStencilView(texture, &own, &view), "CreateDepthStencilView");
        made.push_back(view);
        context->ClearDepthStencilView(view, D3D11_CLEAR_DEPTH, float(fifteenths(level, 0, 0)) / 15, 0);
    }
    D3D11_SHADER_RESOURCE_VIEW_DESC own = {};
    own.Format = DXGI_FORMAT_R32_FLOAT;
    own.ViewDimension = D3D11_SRV_DIMENSION_TEXTURE2D;
    own.Texture2D.MipLevels = LEVELS;
    ID3D11ShaderResourceView *view;
    check(device->CreateShaderResourceView(texture, &own, &view), "CreateShaderResourceView");
    made.insert(made.end(), {texture, view});
    return view;
}

static ID3D11SamplerState *sampler(ID3D11Device *device, D3D11_FILTER filter) {
    D3D11_SAMPLER_DESC about = {};
    about.Filter = filter;
    about.AddressU = about.AddressV = about.AddressW = D3D11_TEXTURE_ADDRESS_WRAP;
    about.MaxAnisotropy = filter == D3D11_FILTER_ANISOTROPIC ? 16 : 1;
    about.ComparisonFunc = D3D11_COMPARISON_NEVER;
    about.MaxLOD = D3D11_FLOAT32_MAX;
    ID3D11SamplerState *sampler;
    check(device->CreateSamplerState(&about, &sampler), "CreateSamplerState");
    made.push_back(sampler);
    return sampler;
}

int main(int count, char **words) {
    if (count < 4) {
        std::fprintf(stderr, "usage: dxvk-client VERTEX.dxbc PIXEL.dxbc PICTURE.ppm [nearest|anisotropic]\n");
        return 2;
    }
    const auto vertex = content(words[1]), pixel = content(words[2]);
    const std::string word = count > 4 ? words[4] : "linear";

    ID3D11Device *device;
    ID3D11DeviceContext *context;
    const D3D_FEATURE_LEVEL level = D3D_FEATURE_LEVEL_11_0;
    const HRESULT created = D3D11CreateDevice(
        nullptr, D3D_DRIVER_TYPE_HARDWARE, nullptr, 0, &level, 1, D3D11_SDK_VERSION, &device, nullptr, &context);
    if (FAILED(created)) {
        // A skip: DXVK takes no device that lacks what it needs.
        std::printf("D3D11CreateDevice: %08x\n", unsigned(created));
        return 0;
    }
    ID3D11VertexShader *corners;
    ID3D11PixelShader *pixels;
    check(device->CreateVertexShader(vertex.data(), vertex.size(), nullptr, &corners), "CreateVertexShader");
    check(device->CreatePixelShader(pixel.data(), pixel.size(), nullptr, &pixels), "CreatePixelShader");

    ID3D11ShaderResourceView *images[] = {
        image(device, DXGI_FORMAT_R8G8B8A8_UNORM), image(device, DXGI_FORMAT_R32G32B32A32_FLOAT),
        image(device, DXGI_FORMAT_R32_FLOAT), depths(device, context)};
    const D3D11_FILTER linear = D3D11_FILTER_MIN_MAG_MIP_LINEAR;
    const D3D11_FILTER of_others = word == "nearest" ? D3D11_FILTER_MIN_MAG_MIP_POINT : linear;
    const D3D11_FILTER of_colours = word == "anisotropic" ? D3D11_FILTER_ANISOTROPIC : linear;
    ID3D11SamplerState *samplers[] = {
        sampler(device, of_colours), sampler(device, word == "anisotropic" ? of_colours : of_others), sampler(device, of_others)};

    D3D11_TEXTURE2D_DESC about = {};
    about.Width = about.Height = SIDE;
    about.MipLevels = about.ArraySize = about.SampleDesc.Count = 1;
    about.Format = DXGI_FORMAT_R8G8B8A8_UNORM;
    about.BindFlags = D3D11_BIND_RENDER_TARGET;
    ID3D11Texture2D *target, *copy;
    ID3D11RenderTargetView *view;
    check(device->CreateTexture2D(&about, nullptr, &target), "CreateTexture2D");
    check(device->CreateRenderTargetView(target, nullptr, &view), "CreateRenderTargetView");
    about.Usage = D3D11_USAGE_STAGING;
    about.BindFlags = 0;
    about.CPUAccessFlags = D3D11_CPU_ACCESS_READ;
    check(device->CreateTexture2D(&about, nullptr, &copy), "CreateTexture2D");

    // The command buffer of the first frame is begun before DXVK has created a pipeline.
    for (int frame = 0; frame < 3; ++frame) {
        const D3D11_VIEWPORT whole = {0, 0, float(SIDE), float(SIDE), 0, 1};
        context->RSSetViewports(1, &whole);
        context->OMSetRenderTargets(1, &view, nullptr);
        context->IASetPrimitiveTopology(D3D11_PRIMITIVE_TOPOLOGY_TRIANGLELIST);
        context->VSSetShader(corners, nullptr, 0);
        context->PSSetShader(pixels, nullptr, 0);
        context->PSSetShaderResources(0, 4, images);
        context->PSSetSamplers(0, 3, samplers);
        context->Draw(3, 0);
        context->CopyResource(copy, target);
        context->Flush();
    }
    D3D11_MAPPED_SUBRESOURCE mapped;
    check(context->Map(copy, 0, D3D11_MAP_READ, 0, &mapped), "Map");
    std::ofstream picture(words[3], std::ios::binary);
    picture << "P6 " << SIDE << " " << SIDE << " 255\n";
    for (UINT y = 0; y < SIDE; ++y) {
        const char *row = static_cast<const char *>(mapped.pData) + y * mapped.RowPitch;
        for (UINT x = 0; x < SIDE; ++x) {
            picture.write(row + x * 4, 3);
        }
    }
    context->Unmap(copy, 0);
    context->ClearState();
    context->Flush();
    made.insert(made.end(), {corners, pixels, target, view, copy, context, device});
    for (IUnknown *own : made) {
        own->Release();
    }
    return picture ? 0 : 1;
}
